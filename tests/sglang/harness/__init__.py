"""Runs the real scheduler code of SGLang on a CPU with a fake model, and records what it decides.

Modules that need nothing but the standard library: `states`, `seeded`, `scenario_map`, `engine_map`, `environment`,
`jobs`. All others import torch and SGLang, and run in the worker process only.
"""
