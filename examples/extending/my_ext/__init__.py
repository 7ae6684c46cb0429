"""Parts of my own."""
