"""The table of operators, and how likely each is to be the repair."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from kotef.repair.operators import (
    calls,
    conditions,
    constants,
    donors,
    inserts,
    names,
    operations,
    slices,
    statements,
)
from kotef.repair.operators.site import EditProposal, Site


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to change a program."""

    name: str
    cost: float
    """How unlikely its best proposal is: about one unit for a factor of four. Tuned on programs of our own."""
    generate: Callable[[Site], Iterator[EditProposal]]
    """Proposals for one node, likeliest first; none where it does not apply."""


OPERATORS: Final = (
    Operator("comparison", 1.0, operations.compare),
    Operator("range of a comparison", 1.6, operations.chain),
    Operator("boolean operator", 1.1, conditions.boolean),
    Operator("arithmetic operator", 1.1, operations.arithmetic),
    Operator("assignment operator", 1.2, operations.assignment_sign),
    Operator("off by one", 1.2, operations.off_by_one),
    Operator("number", 1.2, constants.number),
    Operator("variable", 1.3, names.variable),
    Operator("attribute", 1.3, names.attribute),
    Operator("sibling call", 1.2, calls.sibling),
    Operator("arguments swapped", 1.2, calls.argument_swap),
    Operator("negation", 1.2, conditions.negated),
    Operator("truth value", 1.2, constants.truth),
    Operator("operands swapped", 1.3, operations.operand_swap),
    Operator("slice", 1.3, slices.bounds),
    Operator("index", 1.3, slices.index),
    Operator("known shape", 1.4, calls.known_shapes),
    Operator("parentheses", 1.4, operations.regroup),
    Operator("generator", 1.2, statements.generator),
    Operator("jump", 1.5, statements.jump),
    Operator("moved out of a block", 1.4, statements.move_out),
    Operator("moved into a block", 1.5, statements.move_in),
    Operator("moved before a loop", 1.8, statements.move_up),
    Operator("moved within its block", 2.0, statements.move_to_end),
    Operator("statements swapped", 1.7, statements.swap_neighbours),
    Operator("elif", 1.7, statements.else_to_if),
    Operator("if or while", 2.0, statements.loop_kind),
    Operator("text", 1.6, constants.text),
    Operator("text in an f-string", 1.6, constants.formatted_text),
    Operator("infinity", 1.7, constants.infinity),
    Operator("initial value", 1.8, constants.initial_value),
    Operator("operand dropped", 1.7, operations.drop_operand),
    Operator("condition dropped", 1.7, conditions.dropped),
    Operator("call wrapped", 1.9, calls.wrap),
    Operator("limit by a variable", 1.9, calls.wrap_with_variable),
    Operator("call unwrapped", 1.9, calls.unwrap),
    Operator("part of a sequence", 1.9, slices.missing_part),
    Operator("arguments", 1.8, calls.arguments),
    Operator("missing attribute", 1.9, names.missing_attribute),
    Operator("attribute dropped", 2.2, names.dropped_attribute),
    Operator("targets swapped", 1.8, names.swapped_targets),
    Operator("variable throughout", 2.1, names.variable_throughout),
    Operator("target", 2.0, names.stored_name),
    Operator("exception", 1.6, names.exception),
    Operator("returned value", 2.0, statements.result),
    Operator("return added", 2.0, inserts.final_return),
    Operator("update added", 2.1, inserts.update),
    Operator("update added first", 2.3, inserts.early_update),
    Operator("update added at a block's end", 2.2, inserts.block_end),
    Operator("last group", 2.1, inserts.last_group),
    Operator("statement copied", 2.2, inserts.copy),
    Operator("base case", 2.2, inserts.base_case),
    Operator("guard", 2.8, inserts.guard),
    Operator("value set under a condition", 3.2, inserts.clamp),
    Operator("fresh default", 1.5, inserts.mutable_default),
    Operator("else", 2.8, inserts.otherwise),
    Operator("condition extended", 2.0, conditions.extended),
    Operator("condition replaced", 2.6, conditions.replaced),
    Operator("condition added", 2.7, conditions.added),
    Operator("filter", 2.4, conditions.filtered),
    Operator("operation extended", 2.2, operations.extend_operation),
    Operator("expression from nearby", 2.2, donors.donor),
    Operator("expression added", 2.7, donors.combination),
    Operator("conditional value", 3.0, donors.conditional),
    Operator("statement deleted", 2.6, statements.delete),
    Operator("constant condition", 3.2, conditions.constant),
)
