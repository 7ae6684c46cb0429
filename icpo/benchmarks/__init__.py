"""Benchmarks: source -> questions and, apart from them, their gold answers."""

from icpo.benchmarks.benchmark import Benchmark, LoadedBenchmark, content_digest
from icpo.benchmarks.columns import Columns, Item
from icpo.benchmarks.sources import (
    ArithmeticSource,
    FileSource,
    HubSource,
    Source,
    Sourced,
    TextSource,
    WordsSource,
)
