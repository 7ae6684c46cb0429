from pathlib import Path

from icpo.lab.scripts.command_line import run_parser


def test_a_run_of_a_script_is_its_preset_s_unless_named(capsys):
    parser = run_parser("What it does.\n\nThen more.", "racing")
    for arguments, wanted in (
        ([], ("racing", Path("outputs"))),
        (["mine", "--outputs", "elsewhere"], ("mine", Path("elsewhere"))),
    ):
        args = parser.parse_args(arguments)
        assert (args.run_name, args.outputs) == wanted
    assert "What it does.\n\nThen more." in parser.format_help(), "paragraphs stay apart"
