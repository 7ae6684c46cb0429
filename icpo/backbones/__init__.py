"""Backbones: the value that engines read, and the weights of `nano`."""

from icpo.backbones.backbone import Backbone, ChatTemplate

__all__ = ["Backbone", "ChatTemplate"]
