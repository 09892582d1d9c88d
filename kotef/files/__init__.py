"""Files below a folder in which others may plant links, pipes or devices; paths, and where kotef keeps its state."""
