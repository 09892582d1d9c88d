"""Redaction: the known secrets, and their removal from text."""
