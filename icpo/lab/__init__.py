"""Parts that serve one experiment each; nothing outside imports them."""
