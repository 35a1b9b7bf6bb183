"""What passes and lowering both ask about a graph, before any code is written."""
