"""What the scripts below experiments/ share: their command line, and our numbers beside the paper's."""
