"""Tools that run calls of traced functions otherwise: again, op by op, step by step, with less optimisation.

A tool is an interceptor (`function/control.py`): inside its block a call goes to the tool. The tool finds the
trace of the call (`repeatable.RepeatableCall`), runs its graph on copies of the variables, interpreted under an
observer (`runtime/observation.py`) or compiled, and compares or reports what it sees.
"""
