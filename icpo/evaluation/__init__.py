"""The loop of a cell: sample, grade, measure, store."""
