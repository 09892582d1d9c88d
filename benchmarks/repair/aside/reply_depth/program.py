"""Threads of a discussion: a post is (text, list of replies)."""


def reply_depth(post):
    """How many levels of replies hang below a post; 0 without any."""
    text, replies = post
    if not replies:
        return 0
    deepest = 0
    for reply in replies:
        deepest = max(deepest, reply_depth(reply))
    return deepest


def post_count(post):
    """The post and all below it."""
    return 1 + sum(post_count(reply) for reply in post[1])
