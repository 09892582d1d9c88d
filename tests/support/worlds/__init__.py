"""Parts that worlds are composed of: products, projects, forms of code, changes."""
