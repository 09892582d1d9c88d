"""Recipes for more or fewer people."""

from dataclasses import dataclass, field


@dataclass
class Recipe:
    """Grams by ingredient, for so many people."""

    name: str
    people: int = 4
    grams: dict = field(default_factory=dict)

    def scaled(self, people):
        """The same dish for another number of people, grams rounded to whole ones."""
        grams = {what: round(amount * people / self.people) for what, amount in self.grams.items()}
        return Recipe(self.name, people, grams)

    def weight(self):
        return sum(self.grams.values())


def shopping_list(recipes, people):
    """Grams of every ingredient to cook all the recipes for so many people."""
    total = {}
    for recipe in recipes:
        for what, amount in recipe.scaled(people).grams.items():
            total[what] = total.get(what, 0) + amount
    return total
