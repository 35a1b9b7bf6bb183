"""Images: files, colours, crops, resizing."""
