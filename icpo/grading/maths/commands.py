"""The commands of LaTeX that name a symbol or a function."""

CONSTANTS = {r"\infty", r"\pi", r"\emptyset", r"\dots"}
GREEK = frozenset(
    rf"\{name}"
    for name in (
        "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta",
        "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi",
        "chi", "psi", "omega", "ell", "hbar", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi",
        "Psi", "Omega",
    )
)  # fmt: skip
FUNCTIONS = frozenset(
    rf"\{name}"
    for name in (
        "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log",
        "ln", "lg", "exp",
    )
)  # fmt: skip
INVERSES = {r"\sin": r"\arcsin", r"\cos": r"\arccos", r"\tan": r"\arctan"}
ACCENTS = {
    r"\overline": r"\overline", r"\bar": r"\overline", r"\hat": r"\hat", r"\widehat": r"\hat",
    r"\tilde": r"\tilde", r"\widetilde": r"\tilde", r"\dot": r"\dot", r"\ddot": r"\ddot",
    r"\vec": r"\vec", r"\overrightarrow": r"\vec",
}  # fmt: skip
