"""How nano is made: its tokenizer, its training examples, its training and what it is examined on."""
