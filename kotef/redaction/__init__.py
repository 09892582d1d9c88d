"""Which secrets are known here and now, and how text is kept free of them."""
