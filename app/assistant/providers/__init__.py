"""Models behind one interface: `base` defines it, `choice` picks one by setting."""
