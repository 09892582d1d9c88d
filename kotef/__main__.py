"""How is kotef started as `python -m kotef`?"""

from kotef.cli.main import main

main(prog_name="kotef")
