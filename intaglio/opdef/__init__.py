"""The definition of ops: signatures, rules, traits, and the door that executes every op call."""
