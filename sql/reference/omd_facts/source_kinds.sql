-- Whoever reads a block of facts calls these routines by their names.

UPDATE omd.source_kind AS k SET
    end_routine = 'omd_facts.block_end',
    show_routine = 'omd_facts.show_block',
    check_routine = 'omd_facts.may_end'
WHERE k.source_kind_code = 'FACTS';
