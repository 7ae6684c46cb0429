"""Values that flow through a cell, and its parts' protocols."""

from icpo.types.budget import Budget
from icpo.types.protocols import (
    AskLookahead,
    Engine,
    Extensible,
    Method,
    Observer,
    PromptBook,
    Relating,
    RewardSource,
    Selector,
    Toolkit,
    visible,
)
from icpo.types.results import (
    Batches,
    Computation,
    Lookahead,
    Looking,
    QuestionResult,
    Rewards,
    Round,
    Selecting,
    Selection,
    Solving,
    Step,
    Usage,
)
from icpo.types.scores import GradedFinals, GradedRound, Outcome, QuestionScore
from icpo.types.validated import validated
from icpo.types.values import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    History,
    Prompt,
    Purpose,
    Question,
    SampleRequest,
    Sampling,
    Votes,
)
