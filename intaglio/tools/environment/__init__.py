"""What an environment gets in which `tensorflow` is Intaglio: the folder `tensorflow_intaglio` of its packages.

The distribution tensorflow-intaglio and `intaglio activate` bring the same files. Python reads
`tensorflow_intaglio.pth` when it starts. Its first line puts `modules`, where the module `tensorflow`
is, at the end of `sys.path`; its second line imports `start`. Nothing here imports Intaglio before a
program imports `tensorflow`.
"""
