"""Edge probing (Tenney et al. 2019): what can be read off the tokens of spans?"""
