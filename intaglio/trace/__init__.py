"""Recording a graph: levels that record, captures, order of effects."""
