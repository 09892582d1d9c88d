"""Detection of tampering: code and configuration that influence the judge instead of doing the work."""
