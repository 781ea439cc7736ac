"""The studio: one local web page over the ledger, the store of worlds, toolsets and training runs.

`security` decides who may ask and who may change something, `app` puts the views together, and each view has a module
of its own. Nothing that stands on the core imports this; the command line finds it by its name.
"""
