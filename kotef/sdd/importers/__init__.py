"""Importers of specs and issues written for other tools."""
