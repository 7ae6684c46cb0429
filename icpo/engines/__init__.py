"""Engines: how backbones are sampled. `settings.start(backbone, ...)` gives the engine."""
