"""The paper's prompts (Appendix "Prompt Templates"), word for word.

They are quoted as the experiment's data. The paper sets one sentence in bold; it is written with Markdown's
asterisks here. `IDEAS` is the paragraph that promises tagged ideas; it is apart because a base model without
ideas is asked without it.
"""

from icpo.types import AnswerKind

OPENING = "You are an AI mathematician. All content you output MUST be in English."

IDEAS = {
    kind: (
        "Below are compressed solution ideas from previous attempts; each idea is tagged with reward 1 (correct) "
        f"or reward 0 (incorrect). Use the question and these ideas to deduce the correct {noun}."
    )
    for kind, noun in (
        (AnswerKind.NUMBER, "numeric answer"),
        (AnswerKind.CHOICE, "choice"),
        (AnswerKind.EXPRESSION, "answer"),
    )
}
TAG_CLAUSE = "; each idea is tagged with reward 1 (correct) or reward 0 (incorrect)"

FORMAT = {
    AnswerKind.NUMBER: (
        "**Finish all your reasoning, then on a NEW line output exactly one number (the answer) and nothing else.**\n\n"
        "Your final output MUST be in the format boxed{<number>}, where <number> is the final numeric answer only "
        "(no expressions, variables, or additional text). The content inside boxed{<number>} must be a decimal "
        "number, not a fraction or any other form."
    ),
    AnswerKind.CHOICE: (
        "**Finish all your reasoning, then on a NEW line output exactly one letter (the answer) and nothing else.**\n\n"
        "Your final output MUST be in the format boxed{<letter>}, where <letter> is exactly one of A, B, C, D."
    ),
    AnswerKind.EXPRESSION: (
        "**Finish all your reasoning, then on a NEW line output exactly one answer (the answer) and nothing else.**\n\n"
        "Your final output MUST be in the format boxed{<answer>}."
    ),
}

_SUMMARY_HEAD = (
    "Provide a concise summary of the reasoning in the answer below.\n"
    "Do NOT add any introductory phrases or extra explanations.\n"
)
_SUMMARY_TAIL = "\n\n[Answer start]\n{text}\n[Answer end]\n\nSummary:"
_OMIT_NUMBERS = (
    "Omit all numerical calculations.\nThe summary must be self-contained, no more than 100 tokens.\n\n"
)
_OMIT_CALCULATIONS = (
    "Omit all calculations unless essential to understanding.\n"
    "The summary must be self-contained, no more than 100 tokens.\n\n"
)

SUMMARY = {
    AnswerKind.NUMBER: (
        _SUMMARY_HEAD
        + _OMIT_NUMBERS
        + "If there is a final numeric result, include it at the end in the format boxed{<number>} (decimal only, "
        "no fractions, variables, or extra text).\n"
        "If there is no numeric answer, do not output boxed{}." + _SUMMARY_TAIL
    ),
    AnswerKind.CHOICE: (
        _SUMMARY_HEAD
        + _OMIT_NUMBERS
        + "If there is a final answer choice, include it at the end in the format boxed{<letter>} (must be exactly "
        "one of A, B, C, D, no extra text).\n"
        "If there is no final answer, do not output boxed{}." + _SUMMARY_TAIL
    ),
    AnswerKind.EXPRESSION: (
        _SUMMARY_HEAD
        + _OMIT_CALCULATIONS
        + "If there is a final answer, include it at the end in the format boxed{<answer>}."
        + _SUMMARY_TAIL
    ),
}

BAD_IDEAS = "bad ideas (reward 0):"
GOOD_IDEAS = "good ideas (reward 1):"
UNTAGGED_IDEAS = "previous attempts:"
