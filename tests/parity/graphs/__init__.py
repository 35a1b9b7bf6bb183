"""Graphs that Intaglio wrote and TensorFlow ran: `NAME.pb`, inputs and answers in `answers.json`."""
