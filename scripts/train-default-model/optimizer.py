"""Muon (K. Jordan and others, 2024) for the weight matrices, AdamW for the rest."""

import torch


def orthogonalised(g: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """A batch of matrices with all singular values near one, by a quintic Newton-Schulz iteration in bf16."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    wide = x.shape[-2] <= x.shape[-1]
    if not wide:
        x = x.mT.contiguous()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x if wide else x.mT


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
                updates = orthogonalised(torch.stack(updates)).float()
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
