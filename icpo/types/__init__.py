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
from icpo.types.scores import GradedFinals, GradedRound, Outcome, QuestionScore
from icpo.types.validated import validated
from icpo.types.values import (
    AnswerKind,
    Attempt,
    Batches,
    Candidate,
    Completion,
    Computation,
    FinishReason,
    History,
    Lookahead,
    Looking,
    Prompt,
    Purpose,
    Question,
    QuestionResult,
    Rewards,
    Round,
    SampleRequest,
    Sampling,
    Selecting,
    Selection,
    Solving,
    Step,
    Usage,
    Votes,
)
