"""Changes by hand that several programs of toggles share."""


def step_in_backward(optimizer):
    own = {p: (type(optimizer)([{**group, "params": [p]}]), group) for group in optimizer.param_groups for p in group["params"]}

    def step(p):
        own[p][0].param_groups[0].update({**own[p][1], "params": [p]})
        own[p][0].step()
        own[p][0].zero_grad()

    for p in own:
        p.register_post_accumulate_grad_hook(step)
