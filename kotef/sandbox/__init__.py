"""What can a command touch, and who holds it to that?"""
