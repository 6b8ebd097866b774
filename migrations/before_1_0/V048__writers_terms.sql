-- V048: what the agreement of a writer allows. Applied once.

ALTER TABLE omd_facts.interface ADD COLUMN writer_terms jsonb;
COMMENT ON COLUMN omd_facts.interface.writer_terms IS
'What the agreement of that delivery names: its code, entities, context, and the relationships '
'that filter; NULL: it names neither entities nor a context.';
