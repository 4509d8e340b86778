"""What messages say of the manual and the menu, and what their records say back."""
