"""SelectorReports for people: verdict, what matched where, what removed the others, and what to write instead."""
