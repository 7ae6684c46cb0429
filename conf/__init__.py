"""Configuration files; a package, so that a wheel can serve them to Hydra."""
