"""The repository map: the most used files and what they define."""
