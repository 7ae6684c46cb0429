"""Parts that serve experiments alone, most of them one each; nothing in the library imports them."""
