"""Muon (K. Jordan and others, 2024) for the weight matrices, AdamW for the rest."""

import torch
import torch.distributed as dist


def fast_type(device: torch.device) -> torch.dtype:
    """bf16 on a GPU and on a CPU that has instructions for it, else f32: without them a training step in bf16 takes 15 times as long."""
    return torch.bfloat16 if device.type == "cuda" or torch.cpu._is_avx512_bf16_supported() else torch.float32


def orthogonalised(g: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """A batch of matrices with all singular values near one, by a quintic Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.to(fast_type(g.device))
    wide = x.shape[-2] <= x.shape[-1]
    if not wide:
        x = x.mT.contiguous()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x if wide else x.mT


def shared_out(matrices: torch.Tensor) -> torch.Tensor:
    """The same as `orthogonalised`; of the processes, which have the same matrices, each works out its part."""
    world = dist.get_world_size() if dist.is_initialized() else 1
    if world == 1 or len(matrices) % world:
        return orthogonalised(matrices).float()
    mine = orthogonalised(matrices.chunk(world)[dist.get_rank()]).float().contiguous()
    parts = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(parts, mine)
    return torch.cat(parts)


class Muon(torch.optim.Optimizer):
    """Momentum whose update is orthogonalised; matrices of one shape are handled together."""

    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.01):
        super().__init__(list(params), {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            shapes: dict = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(p.shape, []).append(p)
            for shape, params in shapes.items():
                updates = []
                for p in params:
                    state = self.state[p]
                    if "momentum" not in state:
                        state["momentum"] = torch.zeros_like(p)
                    m = state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                    updates.append(p.grad.lerp(m, group["momentum"]))
                updates = shared_out(torch.stack(updates))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for p, u in zip(params, updates):
                    p.mul_(1 - group["lr"] * group["weight_decay"]).add_(u, alpha=-scale)


def build(model, muon_lr: float, adam_lr: float):
    """The two optimisers; each remembers its peak rate in `peak`."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n]
    rest = [p for n, p in model.named_parameters() if p.dim() != 2 or "embed" in n]
    optimizers = [
        Muon(matrices, muon_lr),
        torch.optim.AdamW(rest, adam_lr, betas=(0.9, 0.95), weight_decay=0.0, fused=True),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["peak"] = group["lr"]
    return optimizers
