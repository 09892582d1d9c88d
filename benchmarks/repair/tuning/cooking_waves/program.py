"""What can be cooked at the same time."""


def cooking_waves(needs):
    """Lists of dishes, each list sorted and possible once the earlier ones are done.

    `needs` maps a dish to those it waits for, all of them keys. A ring is a ValueError.
    """
    missing = {dish: len(before) for dish, before in needs.items()}
    ready = sorted(dish for dish, count in missing.items() if count == 0)
    waves = []
    done = 0
    while ready:
        waves.append(ready)
        done += len(ready)
        following = []
        for dish, before in needs.items():
            for finished in ready:
                if finished in before:
                    if missing[dish] == 0:
                        following.append(dish)
                    missing[dish] -= 1
        ready = sorted(following)
    if done < len(needs):
        raise ValueError("the dishes wait for each other")
    return waves
