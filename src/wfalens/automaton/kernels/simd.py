"""Vectors of neighbouring numbers, held in registers: what the compiler does not find by itself in a loop.

`products`, `steps` and `fetches` make functions for compiled code. These write the loop over the
lanes as operations on whole vectors, which the compiler divides into those of the processor at hand. Arrays are flat,
and places in them are given as numbers.
Products and sums may be fused, but no sum is reordered: a row's result is the same whatever is computed beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_FUSED = ("contract", "nsz")
_INDEX = ir.IntType(32)
_LINE = 64  # bytes of a cache line


class _Vectors:
    """Writes operations on vectors of so many lanes, of one type of numbers."""

    def __init__(self, context: Any, builder: Any, number: Any, lanes: int) -> None:
        self.builder, self.lanes = builder, lanes
        self.scalar = context.get_data_type(number)
        self.type = ir.VectorType(self.scalar, lanes)

    def load(self, data: Any, at: Any) -> Any:
        """Neighbouring numbers of an array, which may have less precision."""
        numbers = data.type.pointee
        vector = ir.VectorType(numbers, self.lanes)
        found = self.builder.load(self._pointer(data, at, vector), align=_bytes(numbers))
        return found if numbers == self.scalar else self.builder.fpext(found, self.type)

    def store(self, vector: Any, data: Any, at: Any) -> None:
        self.builder.store(vector, self._pointer(data, at, self.type), align=_bytes(self.scalar))

    def zero(self) -> Any:
        """A place for a vector, which begins with zeros; the compiler makes a register of it."""
        return cgutils.alloca_once_value(self.builder, ir.Constant(self.type, [0.0] * self.lanes))  # type: ignore[no-untyped-call]

    def spread(self, data: Any, at: Any) -> Any:
        """One number of an array in every lane."""
        nothing = ir.Constant(self.type, ir.Undefined)
        number = self.builder.load(self.builder.gep(data, [at]))
        first = self.builder.insert_element(nothing, number, _INDEX(0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(_INDEX, self.lanes), [0] * self.lanes)
        )

    def product_and(self, one: Any, other: Any, more: Any) -> Any:
        """`one∘other + more`"""
        return self.builder.fadd(self.builder.fmul(one, other, flags=_FUSED), more, flags=_FUSED)

    def fetch(self, data: Any, at: Any, numbers: int) -> None:
        """Have numbers that will be needed soon brought into the cache."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INDEX, _INDEX, _INDEX])
        fetch = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        for line in range(0, numbers, _LINE // _bytes(data.type.pointee)):
            place = self.builder.gep(data, [self.builder.add(at, at.type(line))])
            self.builder.call(fetch, [self.builder.bitcast(place, byte), _INDEX(0), _INDEX(3), _INDEX(1)])

    def _pointer(self, data: Any, at: Any, vector: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [at]), vector.as_pointer())


def _bytes(number: Any) -> int:
    return 4 if isinstance(number, ir.FloatType) else 8


def _numbers(builder: Any, values: Any, count: int) -> Any:
    return cgutils.unpack_tuple(builder, values, count)  # type: ignore[no-untyped-call]


def _data(context: Any, builder: Any, array: Any, value: Any) -> Any:
    return context.make_array(array)(context, builder, value).data


def products(lanes: int, vectors: int = 1, chains: int = 1) -> Callable[..., Any]:
    """Compiled code only: `multiply` by so many vectors of columns; as many sums as `chains` grow side by side."""

    @intrinsic
    def multiply(_typing, x, sources, table, first, stride, inputs, out, targets):  # type: ignore[no-untyped-def]  # noqa: ARG001
        """`out[target + j] = Σᵢ x[source + i]·table[first + i·stride + j]` for each source and its target.

        sources, targets: tuples of as many places as there are rows of x; what is loaded of the table serves them all.
        inputs: a multiple of `chains`
        """
        rows, place = len(sources), types.intp
        places = types.UniTuple(place, rows)  # type: ignore[no-untyped-call]
        signature = types.void(x, places, table, place, place, place, out, places)

        def write(context, builder, signature, values):  # type: ignore[no-untyped-def]
            kinds, (_, _, _, first, stride, inputs, _, _) = signature.args, values
            writer = _Vectors(context, builder, kinds[0].dtype, lanes)
            of_x, of_table, to = (_data(context, builder, kinds[at], values[at]) for at in (0, 2, 6))
            begins, ends = (_numbers(builder, values[at], rows) for at in (1, 7))
            sums = [[[writer.zero() for _ in range(vectors)] for _ in range(rows)] for _ in range(chains)]
            with cgutils.for_range(builder, builder.udiv(inputs, inputs.type(chains))) as loop:
                for chain, by_row in enumerate(sums):
                    row = builder.add(builder.mul(loop.index, inputs.type(chains)), inputs.type(chain))
                    at = builder.add(first, builder.mul(row, stride))
                    entries = [writer.load(of_table, builder.add(at, at.type(lanes * each))) for each in range(vectors)]
                    for begin, totals in zip(begins, by_row, strict=True):
                        number = writer.spread(of_x, builder.add(begin, row))
                        for entry, total in zip(entries, totals, strict=True):
                            builder.store(writer.product_and(number, entry, builder.load(total)), total)
            for end, by_chain in zip(ends, zip(*sums, strict=True), strict=True):
                for vector, parts in enumerate(zip(*by_chain, strict=True)):
                    total = reduce(builder.fadd, [builder.load(part) for part in parts])
                    writer.store(total, to, builder.add(end, end.type(lanes * vector)))
            return context.get_dummy_value()

        return signature, write

    return multiply


def steps(lanes: int) -> Callable[..., Any]:
    """Compiled code only: `step` for blocks of so many numbers."""

    @intrinsic
    def step(_typing, x, source, target, read, found, table, entry):  # type: ignore[no-untyped-def]  # noqa: ARG001
        """`x[target + j] = x[source + j]·d + read[found + j]·s + b`, with d, s and b side by side in the table."""
        place = types.intp
        signature = types.void(x, place, place, read, place, table, place)

        def write(context, builder, signature, values):  # type: ignore[no-untyped-def]
            kinds = signature.args
            vectors = _Vectors(context, builder, kinds[0].dtype, lanes)
            of_x, of_read, of_table = (_data(context, builder, kinds[at], values[at]) for at in (0, 3, 5))
            decay, gate, entry = (
                vectors.load(of_table, builder.add(values[6], values[6].type(slot * lanes))) for slot in range(3)
            )
            inputs = vectors.product_and(vectors.load(of_read, values[4]), gate, entry)
            moved = vectors.product_and(vectors.load(of_x, values[1]), decay, inputs)
            vectors.store(moved, of_x, values[2])
            return context.get_dummy_value()

        return signature, write

    return step


def fetches(numbers: int) -> Callable[..., Any]:
    """Compiled code only: `fetch` for so many numbers."""

    @intrinsic
    def fetch(_typing, table, at):  # type: ignore[no-untyped-def]  # noqa: ARG001
        """Have numbers of a table that will be needed soon brought into the cache."""

        def write(context, builder, _signature, values):  # type: ignore[no-untyped-def]
            vectors = _Vectors(context, builder, table.dtype, 1)
            vectors.fetch(_data(context, builder, table, values[0]), values[1], numbers)
            return context.get_dummy_value()

        return types.void(table, types.intp), write

    return fetch
