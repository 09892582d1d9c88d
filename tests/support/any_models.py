"""Any value of a pydantic model: its fields of their types, its texts such as programs stumble over."""

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import assume
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from support.any_json import texts

SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts(),
    int: st.integers(0, 9) | st.integers(-3, 10**12),
    float: st.floats(0, 9) | st.floats(0, 1e12),
    bool: st.booleans(),
    NoneType: st.none(),
    Any: st.none(),
}


@st.composite
def values_of(draw: st.DrawFn, model: type[BaseModel], **known: Any) -> Any:
    """A valid value of the model; `known` fields are given."""
    try:
        return model.model_validate(draw(_fields_of(model)) | known)
    except ValidationError:
        assume(False)


@cache
def _fields_of(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: _of(field.annotation) for name, field in model.model_fields.items()})


@cache
def _of(declared: Any) -> st.SearchStrategy[Any]:
    origin, options = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return _of(options[0])
    if origin is Literal:
        return st.sampled_from(options)
    if origin in {Union, UnionType}:
        return st.one_of([_of(one) for one in options])
    if origin is tuple:
        return st.lists(_of(options[0]), max_size=2).map(tuple)
    if origin in {list, frozenset}:
        return st.lists(_of(options[0]), max_size=2)
    if origin is not None and issubclass(origin, dict):
        return st.dictionaries(_of(options[0]), _of(options[1]), max_size=2)
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return values_of(declared)
    return SIMPLE[declared]
