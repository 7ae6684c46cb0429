"""Parts that serve experiments alone; nothing in the library imports them."""
