"""git, asked without running anything that the repository configures; what commands do to it is put back."""
