"""Stand-ins for the two device kernels of the paged KV allocator.

The allocator class stays the release's own. Releases that already choose a torch path where no kernel can run are left
alone. The rule: the tokens of a request first fill the rest of its last page, then whole new pages in the order of the
free list; requests take pages in batch order.
"""

from __future__ import annotations

import inspect
from typing import Any

from sglang.srt.mem_cache.allocator import paged


def allocator_class() -> Any:
    cls = paged.PagedTokenToKVPoolAllocator
    if "use_triton_kernels" not in inspect.getsource(cls.__init__):
        paged.alloc_extend_kernel = _Extend()
        paged.alloc_decode_kernel = _Decode()
    return cls


def _page(free_pages: Any, k: int) -> int:
    # A short pool is answered by the caller after the kernel; give it any page.
    return int(free_pages[k]) if k < len(free_pages) else 0


class _Extend:
    def __getitem__(self, grid):
        return self.run

    def run(self, prefix_lens, seq_lens, last_loc, free_pages, out_indices, bs_upper, page_size):
        o = k = 0
        for prefix, length, last in zip(prefix_lens.tolist(), seq_lens.tolist(), last_loc.tolist()):
            loc = last
            for position in range(prefix, length):
                if position % page_size == 0:
                    loc = _page(free_pages, k) * page_size
                    k += 1
                else:
                    loc += 1
                out_indices[o] = loc
                o += 1


class _Decode:
    def __getitem__(self, grid):
        return self.run

    def run(self, seq_lens, last_loc, free_pages, out_indices, bs_upper, page_size):
        k = 0
        for j, (length, last) in enumerate(zip(seq_lens.tolist(), last_loc.tolist())):
            if (length - 1) % page_size == 0:
                out_indices[j] = _page(free_pages, k) * page_size
                k += 1
            else:
                out_indices[j] = last + 1
