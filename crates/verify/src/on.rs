//! What `--on` names: the wires that a command is to be run on.
