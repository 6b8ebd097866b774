-- V050: what is wrong with a source is kept twice, since the text of an error may hold values of
-- business rows. Applied once.

ALTER TABLE omd_lineage.source_probe ADD COLUMN shown_problem text;
COMMENT ON COLUMN omd_lineage.source_probe.shown_problem IS
'The problem as everybody may see it: the code of an error stands for its text; NULL: nothing is '
'wrong.';

-- A probe that has failed may have kept the text of an error. The next one writes its code.
UPDATE omd_lineage.source_probe AS p SET
    shown_problem = CASE WHEN p.is_read THEN p.problem ELSE 'Its probe failed.' END
WHERE p.problem IS NOT NULL;
