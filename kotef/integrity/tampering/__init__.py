"""Code and configuration that speak to the judge instead of doing the work."""
