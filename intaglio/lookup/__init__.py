"""Tables that give values for keys, with what fills them, and tables of datasets."""
