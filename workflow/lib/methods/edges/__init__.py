"""Edge probing (Tenney et al. 2019) as merchant2020's table 1 uses it: what can be read off the tokens of spans?"""
