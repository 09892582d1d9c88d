"""What judges the work, and whether it can still say no: pure rules, apart from what acts on them."""
